// Package scheduler hands out a namespace's tasks for one term of the role's leader.
//
// The rules receive the records of the stream (reader, apply), the reports of workers, the members
// and reconnects. They return what to do: frames to workers (dispatch), guarded records (writes),
// announcements to clients (announcer), and gauges. Queries of clients are answered from the state.
//
// The rules are [tasks.Scheduler] in internal/protocol/tasks, without I/O. One goroutine owns them:
// the loop in scheduler.go. Everything else gives the loop events, or carries out the effects that
// the rules return.
//
// # Promises
//
//   - Every write carries the condition that this term's seal is the last one in the stream. So a
//     deposed scheduler stores nothing.
//   - A report is answered, and an outcome announced, only after the outcome is stored.
//   - [Run] returns when the term has ended, with every goroutine joined, or after the operation
//     timeout if the connection hangs.
package scheduler
