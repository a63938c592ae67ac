// Package queue lets the peers run tasks, all through one interface, each used as its own
// documentation says.
//
//	rolemanager   this library: a scheduler and three workers over NATS
//	asynq         github.com/hibiken/asynq over redis
//	river         github.com/riverqueue/river over PostgreSQL
//	asyncjobs     github.com/choria-io/asyncjobs over NATS
//
// Each has two settings. With its defaults, a peer has the settings of its constructor, except for
// the number of handlers. Tuned, it runs as fast as it can on this machine (asynq: its check of an
// empty queue every 5 ms for 1 s; river: the shortest cool-down between fetches for 100 ms, and
// polls every 20 ms for 1 s; asyncjobs: no limit on the tasks in flight of all workers). Impatient,
// for late results and crashed workers, is the shortest time after which a peer gives up on a
// worker.
package queue
