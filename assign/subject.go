package assign

// subjects of one namespace. The first three are the stream's.
type subjects struct{ prefix string }

func subjectsOf(namespace string) subjects { return subjects{namespace + "."} }

// Keys of the stream: what follows the prefix.
const (
	queueKey = "q."
	noteKey  = "t."
	sealKey  = "seal"
)

func (s subjects) queue() string { return s.prefix + queueKey + ">" }
func (s subjects) note() string  { return s.prefix + noteKey + ">" }
func (s subjects) seal() string  { return s.prefix + sealKey }

// done is where the stream republishes what happens to tasks.
func (s subjects) done(task string) string       { return s.prefix + "done." + task }
func (s subjects) assign(instance string) string { return s.prefix + "work.assign." + instance }
func (s subjects) cancel(instance string) string { return s.prefix + "work.cancel." + instance }
func (s subjects) sync(instance string) string   { return s.prefix + "work.sync." + instance }
func (s subjects) report(instance string) string { return s.prefix + "report." + instance }
func (s subjects) ctl() string                   { return s.prefix + "ctl" }
