package unique

// Config is one configuration.
type Config struct {
	Name    string
	Clients []Client
	Plain   int // the task that a client without a key submits, 0: none
	Requeue int // the task that is submitted again after it has died, 0: none
	Copies  int // writes that are under way at once beside those that are waited for
	Faults  int // see doc.go
}

// Client submits one task with one key. Tasks and keys are numbered from 1.
type Client struct {
	Task, Key int
	Own       bool // nobody else submits a task of this id
	Eager     bool
}

const (
	maxTasks   = 3
	maxKeys    = 2
	maxClients = 3
	maxCopies  = 2
)
