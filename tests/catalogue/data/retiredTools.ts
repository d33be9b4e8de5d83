import type {RetiredTool} from "./types";
import {PLACES} from "./places";

const PLANNER = "tomtom-route-planner";
const READ = ["list the tools again", 'or ask'] as const;
enum Names {
  Ev = "tomtom-ev-routing",
  Viz = "tomtom-get-viz-data",
}

/** Every tool that was renamed or removed: {lastRelease: "no", replacedBy: []} in a comment is none. */
export const RETIRED_TOOLS: Readonly<Record<string, RetiredTool>> = {
  "tomtom-static-map": {
    lastRelease: "1.6.10", // the last one
    replacedBy: ["tomtom-dynamic-map"],
    message: "Call 'tomtom-dynamic-map': it\u2019s the same, with \"more\".",
  },
  [Names.Ev]: {
    lastRelease: `1.6.${10}`,
    replacedBy: [PLANNER],
    message: `'${Names.Ev}' is now '${PLANNER}'.
Put \`vehicle\` first.`,
  },
  [`tomtom-reachable-range`]: {lastRelease: '1.6.' + "11", replacedBy: [], message: READ.join("; "),},
  [Names.Viz]: {
    lastRelease: "1.6.12",
    replacedBy: PLACES,
    message: "imported",
  },
  "tomtom-waypoint-routing": {
    lastRelease: latest(),
    replacedBy: [],
    message: "computed",
  },
  tidy: {lastRelease: "1.0", replacedBy: [], message: "", migrate: (input) => input.old},
  ...MORE,
} as const satisfies Record<string, RetiredTool>;
