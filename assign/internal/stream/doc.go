// Package stream opens, creates and checks the stream of a namespace and its object store.
//
// The stream TASKS_<namespace> holds the records of package record, one for each subject. A setting
// by which a task could be lost, kept back or forged makes the stream unfit, with the fix in the
// error. The object store is the stream OBJ_TASKS_<namespace>. It holds outputs above 64 KiB, in
// chunks. Both streams have subjects below $KV, see record.Stored.
//
// The package also says what an error of the server means for a write, in verdict.go.
package stream
