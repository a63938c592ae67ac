// Package examples holds small programs to copy, of public packages only, and the test that runs
// them as processes against a real server.
//
//	singleton         work that one process at a time does
//	shards            shards that are spread over processes
//	ordered-consumers a stream that is consumed in order for each key, while processes come and go
//	tasks             a kind of task: its handler, its scheduler, its submitter
//	worker-only       a process that runs tasks and contends for nothing
//	fencing           what refuses a former leader: a Guard and a Store
//	fencing/sqlite    a SQL row that refuses a former leader; a module of its own, for its database driver
//	postgres          the same on PostgreSQL, where several write at a time; a module of its own, too
//	datacenters       three sites, each with a leader of its own, and one leader of all
//	leader-service    several pods, and a Service that leads to the one that leads
//	groups            a group of up to 100,000 tasks, while its processes are killed
//	multi-role        all of it together, with faults
package examples
