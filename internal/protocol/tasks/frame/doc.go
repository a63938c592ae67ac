// Package frame is the wire format between the scheduler of tasks and its workers. It does no I/O.
//
//	scheduler ── assign, stop, sync ──► worker      frame.go: under an Envelope, signed
//	scheduler ◄── answer, synced, report ── worker  reply.go
//	scheduler ── settled ──► worker                 reply.go
//
// A worker judges the envelope of each frame by the leader in its view (addressee.go). It never
// believes a frame about an epoch. wire.go has the encoder and the decoder of fields. No input
// makes a decoder panic, or take more memory than a multiple of its size.
package frame
