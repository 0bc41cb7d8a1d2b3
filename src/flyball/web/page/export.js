// The entry of an exported file: the run, and nothing else.
import { EXPORTED } from "./api.js";
import "./run.js";

const onlyRun = document.createElement("run-page");
document.getElementById("main").append(onlyRun);
onlyRun.open(EXPORTED.run.run, "proof");
