// Package record holds the formats of what is stored in a namespace's stream, and its subjects.
//
//	subjects.go      the keys of the stream, and the subjects of messages
//	policy.go        how a task is treated: the header of a submission
//	record.go        notes and seals, and the parts that all records share
//	outcome.go       how a task has ended; outcome_text.go is its fast encoder
//	steering.go      unique keys, holds, large outputs, ticks
//	recurrence.go    the definition of a recurrence; schedule.go is its clock
//	bundle.go        several submissions in one record, and which of their tasks have ended
//	after.go         what a task waits for; group.go is what became of the members of a group
//	announcement.go  an outcome as a message; bulletin.go carries several
//	headers.go, trace.go, failure.go   the parts that go along with an input or an output
//
// The package does no I/O. Everything that it decodes may come from a stranger: a decoder takes
// memory in proportion to the bytes, and what it accepts is within the limits that the rules count
// on. Every record names its version, and a later version is left alone.
package record
