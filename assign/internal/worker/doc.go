// Package worker runs a namespace's tasks in one process, under one lease of its session.
//
//	assign, stop, sync ──► verify ──► rules ──► attempts ──► rules ──► outbox ──► the scheduler
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
