package record

// Subjects of one namespace.
type Subjects struct{ Prefix string }

func SubjectsOf(namespace string) Subjects { return Subjects{namespace + "."} }

// Keys of the stream: the part after the prefix. The package comment of assign says who writes
// which.
const (
	QueueKey      = "q." // and the task: its submission, then its outcome
	NoteKey       = "t." // and the task: the facts that a later attempt must know
	CheckpointKey = "c." // and the task: how far an attempt was
	CancelKey     = "x." // and the task: the request to cancel it
	UniqueKey     = "u." // and the digest of a kind and a key: the task that has it
	PauseKey      = "p." // and the kind: it is paused
	DrainKey      = "d." // and the instance: it must be given no new tasks
	RecurKey      = "r." // and the name of a recurrence: its definition
	TickKey       = "k." // and the name of a recurrence: its last tick
	SealKey       = "seal"
)

// Families are all keys except the seal's.
var Families = []string{
	QueueKey, NoteKey, CheckpointKey, CancelKey, UniqueKey, PauseKey, DrainKey, RecurKey, TickKey,
}

// filters select every record of the stream, as keys.
func filters() []string {
	all := make([]string, 0, len(Families)+1)
	for _, f := range Families {
		all = append(all, f+">")
	}
	return append(all, SealKey)
}

// Stored are the subjects of the stream.
func (s Subjects) Stored() []string {
	all := filters()
	for i := range all {
		all[i] = s.Prefix + all[i]
	}
	return all
}

// Done is where a scheduler announces how tasks have ended.
func (s Subjects) Done(audience string) string   { return s.Prefix + "done." + audience }
func (s Subjects) Assign(instance string) string { return s.Prefix + "work.assign." + instance }
func (s Subjects) Cancel(instance string) string { return s.Prefix + "work.cancel." + instance }
func (s Subjects) Sync(instance string) string   { return s.Prefix + "work.sync." + instance }
func (s Subjects) Report(instance string) string { return s.Prefix + "report." + instance }
func (s Subjects) Ctl() string                   { return s.Prefix + "ctl" }

// Event is where a scheduler tells what happens to a task that is watched.
func (s Subjects) Event(task string) string { return s.Prefix + "event." + task }
