package stage

import (
	"context"
	"net"
	"os/exec"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// App is the program on stage.
type App interface {
	// Instance contends for the roles and runs tasks until ctx ends.
	Instance(ctx context.Context, c Config) error
	// Worker runs tasks until ctx ends.
	Worker(ctx context.Context, c Config) error
	// Guard runs the process of the worker, ends its session if it dies, and returns its exit code.
	Guard(ctx context.Context, url string, worker *exec.Cmd) (code int, err error)
	Submitter(c Job) (Submitter, error)
}

// Submitter gives the tasks to the cluster.
type Submitter interface {
	// Submit makes a task of each file and calls ended with each outcome, from several goroutines.
	// It returns after the last, or when ctx has ended.
	Submit(ctx context.Context, files []File, ended func(Outcome))
	// BeginInventory lets a task recur each second until EndInventory.
	BeginInventory(ctx context.Context, dir string) error
	EndInventory(ctx context.Context) error
	// Inventories are its tasks, by second.
	Inventories(ctx context.Context) (map[time.Time]assign.State, error)
	Close()
}

// Lead is the work of a role.
type Lead = func(ctx context.Context, t *election.Term) error

// Config is the start configuration of an instance or a worker, and its only link to the stage: the
// connection can be cut, and the sinks, the wrap and the middleware see the events. Wrap is for
// instances.
type Config struct {
	ID         string
	URL        string
	NATS       []nats.Option
	Bucket     string
	Replicas   int
	TTL        time.Duration
	Slots      int
	Listener   net.Listener
	Sinks      []event.Sink
	Wrap       func(Lead) Lead
	Middleware []assign.Middleware
}

// Job is the start configuration of a submitter.
type Job struct {
	Conn      *nats.Conn
	Namespace string
	Replicas  int
	Run       string                   // begins the ids of all tasks
	Rate      func(size int64) float64 // bytes per second that the task of a file of that size reads, 0 for no limit
	Log       func(format string, args ...any)
}

// File is a regular file of the tree.
type File struct {
	Path string // absolute
	Rel  string // below the root, with slashes
	Size int64  // when the tree was walked
}

// Outcome is how the task of a file has ended.
type Outcome struct {
	Rel       string // of the file
	SHA256    string
	Size      int64  // bytes that were hashed
	Task      string // "" if it could not be submitted
	Attempts  int    // as far as the scheduler knows
	Cancelled bool   // the second task for the same file
	Err       error
}
