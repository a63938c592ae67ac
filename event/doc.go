// Package event holds what a role manager reports about itself: sealed structs and a one-method [Sink].
//
//	election, assign ──► Event ──► one goroutine per session ──► Sink (log)
//	                                                        ├──► Sink (metrics)
//	                                                        └──► Events(ctx), a channel per subscriber
//
// The core knows neither a logger nor Prometheus; it makes events, and whoever wants to see them brings a Sink.
// (The pattern is that of fx's fxevent.)
//
// # Promises
//
//   - An event is a plain value. It is never changed after it was given out, and holds nothing secret: a fencing
//     token's id is in none of them. Sinks receive the struct itself, never a pointer to it.
//   - Sinks of one session are called in order, one at a time, from a goroutine that the session owns; never from the
//     core, and with no lock held. A Sink shared by several sessions is called concurrently and must allow for it.
//   - A type switch over the structs of this package needs a default branch: later versions may add events, and
//     fields to events.
//
// # Failures
//
// A slow Sink delays the events behind it and nothing else. Whoever is more than 4,096 events behind, Sink or subscriber,
// is told with [Lagged] how many it has missed. A promotion, a demotion, and the opening, loss, end or kill of a session
// are never among them.
//
// # Files
//
//	event.go    Event, Meta, Sink
//	role.go     what happens to a role: promoted, demoted, drained, rotated, vacant, stuck
//	work.go     what the work and the callbacks of a role did: returned early, panicked
//	session.go  the session: opened, lost, closed, its heartbeats, its connection
//	member.go   the other members: joined, left, killed
//	fence.go    claims and fencing: attempts, rejections, validations, records that are not understood
//	fault.go    faults that are retried, and events that were missed
//	task.go     tasks, from submission to outcome
//	verify.go   a worker that checks no signatures
//	scheduler.go  tasks that nobody hands out
package event
