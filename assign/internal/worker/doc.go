// Package worker runs a namespace's tasks in one process, under one lease of its session.
//
// A frame of the scheduler (assign, stop, sync) is verified and given to the rules. They start
// attempts. The result of an attempt goes through the rules to the outbox, which reports it.
//
// The rules are [workers.Worker] in internal/protocol/tasks/workers, without I/O. One goroutine
// owns them: the loop in loop.go. A handler runs in a goroutine of its own, in attempt.go. The
// state that outlives a lease is in the [Registry].
//
// # Promises
//
//   - A frame is accepted only if the leader in view has signed it, for this session.
//   - A result stays in the outbox until the scheduler has settled it, across schedulers.
//   - When the lease is lost, the context of every handler ends. A handler that runs on blocks its
//     task in this process, and its slots, until the handler returns.
package worker
