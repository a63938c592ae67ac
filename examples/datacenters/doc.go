// Command datacenters runs services at three sites, in Oslo, Paris and Rome. Each site has a leader
// of its own, also while it is cut off. The role "planner" has one leader for all sites: one of the
// leaders of the sites (roles.While), in Oslo if that is there.
//
//	go run ./examples/datacenters
//
// It brings its own servers: at each site one that keeps the bucket of the site, and one of a
// cluster over all sites, which keeps the bucket of planner with a replica at each. Then Oslo is
// cut off, works alone, comes back, is drained, and leads again. In the end the program counts what
// must not have been: two leaders of one role at once, an epoch that is not above the last one, or
// a step of planner by a process that does not lead its site.
//
// With -worst the site that is cut off also leads the replicas of planner's bucket. NATS first has
// to elect another leader of these, which takes some seconds more.
//
// The files:
//
//	process.go   a process: the role of its site, and planner. This is what to copy
//	story.go     what happens
//	running.go   starts and ends processes
//	journal.go   when each term began and ended
//	report.go    what became of it
package main
