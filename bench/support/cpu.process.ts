/**
 * Loaded into every server process before its code. Reports CPU time to the bench, and ends the process when the bench
 * ends.
 */
process.on("message", () => process.send?.(process.cpuUsage()));
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
