// The dashboard: what the browser runs.
import { render } from "preact";
import { Shell } from "./app/shell";
import { startRouter } from "./app/router";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/forms.css";
import "./styles/tables.css";
import "./styles/parts.css";

startRouter();
render(<Shell />, document.getElementById("dashboard")!);
