/** Loaded into every server process before its own code: tells the bench what CPU time it took, and ends when the bench is gone. */
process.on("message", () => process.send?.(process.cpuUsage()));
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
