// Package event has the events that sessions, elections and tasks report: one struct for each kind
// of event, and the [Sink] that receives them.
//
// Sessions know neither a logger nor Prometheus. They make events. A program receives them with a
// Sink, such as a log or metrics, or from the channel that an Events method returns. (The pattern
// is that of fx's fxevent.)
//
// # Promises
//
//   - An event is a plain value. An event never changes after it was given out, and holds nothing
//     secret: no event holds the id of a fencing token. Sinks receive the struct itself, never a
//     pointer to it.
//   - The sinks of one session are called in order, one at a time, from a goroutine that the
//     session owns. They are never called from the core, and no lock is held. A Sink that several
//     sessions share is called concurrently, and must be safe for that.
//   - A type switch over the structs of this package needs a default branch: later versions may add
//     events, and fields to events.
//
// # Failures
//
// A slow Sink delays the events behind it and nothing else. A Sink or subscriber that is more than
// 4,096 events behind gets a [Lagged], which says how many events it has missed. Promotions,
// demotions, and the opening, loss, end or kill of a session are never left out.
package event
