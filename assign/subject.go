package assign

// subjects of one namespace.
type subjects struct{ prefix string }

func subjectsOf(namespace string) subjects { return subjects{namespace + "."} }

// Keys of the stream: what follows the prefix. See doc.go for who writes which.
const (
	queueKey      = "q." // and the task: its submission, then its outcome
	noteKey       = "t." // and the task: what a later attempt must know
	checkpointKey = "c." // and the task: how far an attempt was
	cancelKey     = "x." // and the task: it is to be cancelled
	uniqueKey     = "u." // and the digest of a kind and a key: the task that has it
	pauseKey      = "p." // and the kind: it is paused
	drainKey      = "d." // and the instance: it is to take nothing new
	recurKey      = "r." // and the name of a recurrence: what, and when
	tickKey       = "k." // and the name of a recurrence: its last tick
	sealKey       = "seal"
)

// families are all keys but the seal's.
var families = []string{
	queueKey, noteKey, checkpointKey, cancelKey, uniqueKey, pauseKey, drainKey, recurKey, tickKey,
}

// filters select every record of the stream, as keys.
func filters() []string {
	all := make([]string, 0, len(families)+1)
	for _, f := range families {
		all = append(all, f+">")
	}
	return append(all, sealKey)
}

// stored are the stream's own.
func (s subjects) stored() []string {
	all := filters()
	for i := range all {
		all[i] = s.prefix + all[i]
	}
	return all
}

// done is where a scheduler announces how tasks have ended.
func (s subjects) done(audience string) string   { return s.prefix + "done." + audience }
func (s subjects) assign(instance string) string { return s.prefix + "work.assign." + instance }
func (s subjects) cancel(instance string) string { return s.prefix + "work.cancel." + instance }
func (s subjects) sync(instance string) string   { return s.prefix + "work.sync." + instance }
func (s subjects) report(instance string) string { return s.prefix + "report." + instance }
func (s subjects) ctl() string                   { return s.prefix + "ctl" }

// event is where a scheduler tells what happens to a task that is watched.
func (s subjects) event(task string) string { return s.prefix + "event." + task }
