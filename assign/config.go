package assign

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/scheduler"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
	"github.com/rolemanager/rolemanager/internal/naming"
)

// Config configures an [Assigner]. Namespace and Role are required.
type Config struct {
	// Namespace is the name of one set of tasks: letters, digits, - and _. It begins every subject, and names the stream
	// TASKS_<namespace>. Who may publish to <namespace>.q.> may submit, and is trusted by all others who may.
	Namespace string
	// Role is the role whose leader hands the tasks out.
	Role string

	// Slots is how many handlers run at once in this process (4 for each processor).
	Slots int
	// Labels are published in the member record.
	Labels map[string]string
	// SchedulerWorks says whether a process takes tasks while it leads the role itself; nil is true.
	SchedulerWorks *bool
	// DrainTimeout is how long running handlers may go on when the session is closed; then they are cancelled and their
	// tasks given back uncounted (the session's DrainTimeout). Closing the session takes so much longer.
	DrainTimeout time.Duration

	// StreamAutoCreate makes the stream when it is missing, with Replicas (1) and Storage (file). Without it a missing
	// stream is an error. What exists is never changed.
	StreamAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType

	// CrashBudget is how many workers a task may take down with it, or lose otherwise, until it is dead (3). The first of them may
	// go uncounted if it takes the scheduler down, too.
	CrashBudget int
	// Placement chooses the worker of a task among those that have room; nil is the one that has the fewest of its slots
	// taken, and for tasks with a sticky key the one that the key has chosen.
	Placement Placement
	// AgingStep is how much later a task may have been submitted for each step of priority, and still go first (10 s): so a
	// task of low priority waits longer, but not for ever.
	AgingStep time.Duration

	// Middleware goes around the handlers of all kinds; the first is the outermost.
	Middleware []Middleware
	// MaxResult is how large the output of a task may be, in bytes (16 MiB, at most 1 GiB). What is above 64 KiB is kept in
	// the object store TASKS_<namespace>. Without StreamAutoCreate somebody has to make that, see [CreateObjects]: until then such
	// tasks wait, with what they have returned, for five minutes; then they are dead, to be requeued when it is there.
	MaxResult int
	// LargeRetention is how long such outputs are kept (24 h): a kind whose Retention is longer cannot have them. It counts
	// when the object store is made.
	LargeRetention time.Duration

	// Verify says whether a worker checks the signature of what it is handed.
	Verify Verify
	// AnswerTimeout is how long a worker may take to answer a frame until it is sent again (500 ms).
	AnswerTimeout time.Duration
}

// Verify says which signatures a worker checks.
type Verify uint8

const (
	// VerifyFrames: that of every frame. It takes some 40 µs for each, however many tasks are in it.
	VerifyFrames Verify = iota
	// VerifyOff: none. Whoever may publish to the worker's subjects can then have it run anything, and a scheduler that was
	// deposed is told apart by its epoch alone. It is for namespaces in which permissions keep everybody else out.
	VerifyOff
)

// ClientConfig configures a [Client]. Namespace is required; see [Config] for the fields.
type ClientConfig struct {
	Namespace        string
	StreamAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType
	// LargeRetention is for [CreateObjects].
	LargeRetention time.Duration
}

var namespaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (c Config) withDefaults(session time.Duration) Config {
	if c.Slots == 0 {
		c.Slots = 4 * runtime.GOMAXPROCS(0)
	}
	if c.SchedulerWorks == nil {
		c.SchedulerWorks = new(true)
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = session
	}
	if c.CrashBudget == 0 {
		c.CrashBudget = 3
	}
	if c.AgingStep == 0 {
		c.AgingStep = 10 * time.Second
	}
	if c.MaxResult == 0 {
		c.MaxResult = 16 << 20
	}
	if c.AnswerTimeout == 0 {
		c.AnswerTimeout = 500 * time.Millisecond
	}
	return c
}

func (c Config) validate() error {
	var faults []error
	fault := func(ok bool, field, fix string, args ...any) {
		if !ok {
			faults = append(faults, &ConfigError{field, fmt.Sprintf(fix, args...)})
		}
	}
	fault(naming.Valid(c.Role), "Role", "%q cannot be part of a key: use letters, digits, - _ = / and dots", c.Role)
	fault(c.Slots > 0 && c.Slots <= 4096, "Slots", "%d: use 1 to 4096", c.Slots)
	fault(c.DrainTimeout > 0, "DrainTimeout", "%v: use a positive duration, or 0 for the session's", c.DrainTimeout)
	fault(c.CrashBudget > 0 && c.CrashBudget < 1000, "CrashBudget", "%d: use 1 to 999", c.CrashBudget)
	fault(c.AnswerTimeout >= 50*time.Millisecond, "AnswerTimeout", "%v: use at least 50ms", c.AnswerTimeout)
	fault(c.AgingStep > 0, "AgingStep", "%v: use a positive duration, or 0 for 10s", c.AgingStep)
	fault(c.MaxResult > 0 && c.MaxResult <= record.MaxOutput, "MaxResult", "%d: use 1 to %d bytes, or 0 for 16 MiB", c.MaxResult, record.MaxOutput)
	fault(c.Verify <= VerifyOff, "Verify", "%d: use VerifyFrames or VerifyOff", c.Verify)
	for i, m := range c.Middleware {
		fault(m != nil, "Middleware", "number %d is nil: leave it out", i)
	}
	return errors.Join(append(faults, c.client().validate())...)
}

func (c Config) client() ClientConfig {
	return ClientConfig{
		Namespace: c.Namespace, StreamAutoCreate: c.StreamAutoCreate, Replicas: c.Replicas, Storage: c.Storage, LargeRetention: c.LargeRetention,
	}
}

// worker is what the worker needs of it.
func (c Config) worker() worker.Config {
	return worker.Config{
		Namespace: c.Namespace, Role: c.Role, Slots: c.Slots, Labels: c.Labels, DrainTimeout: c.DrainTimeout, AnswerTimeout: c.AnswerTimeout,
		MaxResult: c.MaxResult, Unverified: c.Verify == VerifyOff, Stream: c.client().stream(),
	}
}

// scheduler is what the scheduler needs of it.
func (c Config) scheduler() scheduler.Config {
	s := scheduler.Config{
		Namespace: c.Namespace, Role: c.Role, SchedulerWorks: *c.SchedulerWorks, CrashBudget: c.CrashBudget, AgingStep: c.AgingStep,
		AnswerTimeout: c.AnswerTimeout, Stream: c.client().stream(),
	}
	if c.Placement != nil {
		s.Placement = placement{c.Placement, new([]Candidate)}
	}
	return s
}

// stream is what is needed of it to open the stream and the object store.
func (c ClientConfig) stream() stream.Options {
	c = c.withDefaults()
	return stream.Options{
		Namespace: c.Namespace, AutoCreate: c.StreamAutoCreate, Replicas: c.Replicas, Storage: c.Storage, LargeRetention: c.LargeRetention,
	}
}

func (c ClientConfig) withDefaults() ClientConfig {
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.LargeRetention == 0 {
		c.LargeRetention = 24 * time.Hour
	}
	return c
}

func (c ClientConfig) validate() error {
	c = c.withDefaults()
	var faults []error
	if !namespaceName.MatchString(c.Namespace) {
		faults = append(faults, &ConfigError{"Namespace", fmt.Sprintf("%q: use letters, digits, - and _, at most 64", c.Namespace)})
	}
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		faults = append(faults, &ConfigError{"Replicas", fmt.Sprintf("%d: use 1, 3 or 5", c.Replicas)})
	}
	if c.LargeRetention < record.MinRetention {
		faults = append(faults, &ConfigError{"LargeRetention", fmt.Sprintf("%v: use at least %v, or 0 for 24h", c.LargeRetention, record.MinRetention)})
	}
	return errors.Join(faults...)
}
