// Package stream opens, creates and checks the stream of a namespace and its object store.
//
// The stream TASKS_<namespace> holds the records of package record, one for each subject. A setting
// by which a task could be lost, kept back or forged makes the stream unfit, with the fix in the
// error. The object store of the same name holds outputs above 64 KiB.
//
// The package also says what an error of the server means for a write, in verdict.go.
package stream
