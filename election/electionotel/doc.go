// Package electionotel writes spans of OpenTelemetry about hand-overs: from the end of a term to
// the promotion of the next leader.
//
// [NewSink] makes an event.Sink: add it to the Sinks of a manager or a session. Each process writes
// its own part, and together they are one trace:
//
//   - "drain ROLE": from the end of the term until its work has returned.
//   - "vacate ROLE": until the role is given away.
//   - "claim ROLE", by the next leader: from the last sign of the former leader to the promotion.
//     It holds as events what was tried meanwhile: "vacant", "claim", "session killed", "member
//     left", "fault".
//   - "stuck ROLE": the work has not returned in time. It is written at that moment, and "drain
//     ROLE" when the work returns.
//
// A lost session is a span "lose session" in a trace of its own, with links to the hand-overs that
// it caused. A term that runs has no span, and neither has the first leader of a role.
//
// # One trace across processes
//
// No byte of a trace crosses the wire. The id of the trace, and the id of the span above all
// others, are a digest of bucket, role and the epoch of the term that has ended. All processes know
// these. [TraceID] returns the id of the trace. The revisions of a bucket begin with the time of
// its creation, in microseconds, so that buckets of one name do not share epochs.
//
// A provider makes the ids of its spans itself. So nobody writes the span above all others, and a
// backend may show that the root of the trace is missing. Give the provider a [NewIDGenerator], and
// it is written: as "hand over ROLE", by the process that gave the role away, from the end of its
// term until it sees the next leader; or as "take over ROLE", by the next leader, if the former one
// did not give the role away, because it has crashed, say.
//
// # Promises
//
//   - A span is written when it ends, with the times of the events. Each process tells the time by
//     its own clock.
//   - The spans below the root count as sampled by their parent. With a sampler that follows the
//     parent, hand-overs are complete, however few other traces are kept. They are rare.
//   - A span holds names, epochs, reasons and the texts of faults, and no token.
//   - The memory is bounded by the roles that the process takes part in.
//
// # Failures
//
// The package adds no failures. A process that has missed events (event.Lagged) may leave out a
// span. If an epoch was renewed (RotationInterval) and the leader then crashes, the others may know
// an older epoch: a former leader that lives on then writes to another trace than its successor.
//
// Package election knows nothing of OpenTelemetry.
package electionotel
