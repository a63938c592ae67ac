package record

import "strings"

// StreamName is the stream that keeps the records of a namespace.
func StreamName(namespace string) string { return "TASKS_" + namespace }

// ObjectsName is the stream that keeps the large outputs of a namespace.
func ObjectsName(namespace string) string { return "OBJ_TASKS_" + namespace }

// Stored begins the subjects of a stream's records. Subjects below $KV never cross a leaf link by
// themselves, and are reached in each JetStream domain by the prefix of the domain's API. So a
// record is stored by the one stream that it is meant for.
func Stored(stream string) (prefix string) { return "$KV." + stream + "." }

// Keys of the stream: the part after the prefix. The package comment of assign says who writes
// which.
const (
	QueueKey      = "q." // and the task: its submission, then its outcome
	BundleKey     = "b." // and the first of its tasks: submissions that were stored together
	EndedKey      = "e." // and the first of its tasks: those tasks of a bundle that have ended
	NoteKey       = "t." // and the task: the facts that a later attempt must know
	CheckpointKey = "c." // and the task: how far an attempt was
	CancelKey     = "x." // and the task: the request to cancel it
	UniqueKey     = "u." // and the digest of a kind and a key: the task that has it
	PauseKey      = "p." // and the kind: it is paused
	LimitsKey     = "l." // and the kind: its limits
	DrainKey      = "d." // and the instance: it must be given no new tasks
	RecurKey      = "r." // and the name of a recurrence: its definition
	TickKey       = "k." // and the name of a recurrence: its last tick
	TallyKey      = "g." // and the task that completes a group: what became of the members
	SealKey       = "seal"
)

// Messages that are not stored cross leaf links, where another bucket or another namespace may have
// the same name. So their subjects carry the random id of the bucket or the stream that they mean.

// Work is the subjects between the scheduler and the workers, which are members of one bucket.
type Work struct{ prefix string }

// WorkOf is the Work of a namespace. bucketID is the id of the bucket of its members.
func WorkOf(namespace, bucketID string) Work { return Work{said(namespace, bucketID)} }

func (w Work) Assign(instance string) string { return w.prefix + "work.assign." + instance }
func (w Work) Cancel(instance string) string { return w.prefix + "work.cancel." + instance }
func (w Work) Sync(instance string) string   { return w.prefix + "work.sync." + instance }
func (w Work) Report(instance string) string { return w.prefix + "report." + instance }

// Sends reports whether a scheduler sends to subject.
func (w Work) Sends(subject string) bool { return strings.HasPrefix(subject, w.prefix+"work.") }

// Talk is the subjects between the scheduler and the clients, which use one stream.
type Talk struct{ prefix string }

// TalkOf is the Talk of a namespace. streamID is the id of its stream.
func TalkOf(namespace, streamID string) Talk { return Talk{said(namespace, streamID)} }

// Done is where a scheduler announces how tasks have ended.
func (t Talk) Done(audience string) string { return t.prefix + "done." + audience }

// Event is where a scheduler tells what happens to a task that is watched.
func (t Talk) Event(task string) string { return t.prefix + "event." + task }

// Feed is where a scheduler tells one client what happens to all tasks. No task has such an id.
func (t Talk) Feed(name string) string { return t.Event("$feed." + name) }

// Ctl is where clients ask the scheduler.
func (t Talk) Ctl() string { return t.prefix + "ctl" }

// Sends reports whether a scheduler sends to subject.
func (t Talk) Sends(subject string) bool {
	return strings.HasPrefix(subject, t.Done("")) || strings.HasPrefix(subject, t.Event(""))
}

// SaidPrefix begins the subjects of all messages that are not stored.
const SaidPrefix = "$TASKS."

func said(namespace, id string) string { return SaidPrefix + namespace + "." + id + "." }
