package assign

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/scheduler"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Config configures an [Assigner]. Namespace and Role are required.
type Config struct {
	// Namespace is the name of one set of tasks: letters, digits, - and _. It names the stream
	// TASKS_<namespace>, which is in the session's JetStream domain. A client that may publish to
	// $KV.TASKS_<namespace>.q.> may submit, and all such clients trust each other.
	Namespace string
	// Role is the role whose leader hands out the tasks.
	Role string

	// Slots is how many handlers run at once in this process. Default 4 for each processor, minimum
	// 1, maximum 4096.
	Slots int
	// Labels are published in the member record. A kind with [Labels] runs only where they match. Two
	// of them also say what may be lost at once: workers with the same label "host", or the same
	// "zone", that are lost within a TTL count as one loss, for which no task is suspected. Neither
	// has a default: bad inputs kill several workers of one machine too, and would be excused.
	Labels map[string]string
	// SchedulerWorks says whether a process takes tasks while it leads the role itself. Default
	// true (nil).
	SchedulerWorks *bool
	// DrainTimeout is how long running handlers may continue when the session is closed. Then they
	// are cancelled, and their tasks are given back uncounted. Closing the session takes longer by
	// up to this time. Default: the session's DrainTimeout, maximum a year. A handler that continues
	// for as long after its context has ended is reported as event.TaskStuck.
	DrainTimeout time.Duration

	// StreamAutoCreate creates the stream when it is missing, with Replicas and Storage. Without it
	// a missing stream is an error. An existing stream is never changed. Replicas is 1, 3 or 5,
	// default 1. Storage: default file.
	//
	// Where a JetStream domain answers and the session has no Domain, it creates nothing
	// (ErrNoDomain).
	StreamAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType
	// MaxBytes bounds a stream that is created, and likewise the object store of large outputs.
	// Some accounts require a bound (max_bytes_required). A full stream refuses submissions.
	// Default 0: no bound; minimum 1 MiB.
	MaxBytes int64

	// StreamID, if set, pins the stream: one with another id is refused with ErrOtherStream.
	// "rolectl tasks id" prints the id. It cannot be used together with StreamAutoCreate.
	StreamID string

	// CrashBudget is how many lost workers a task may be blamed for, where its kind has no
	// [CrashBudget] of its own: with the last of them it is dead. Default 3, minimum 1, maximum 999.
	// A loss may go uncounted if the scheduler goes down within seconds of it.
	CrashBudget int
	// Placement chooses the worker of a task among those that have room. The default (nil) chooses
	// the worker with the fewest of its slots taken, and for a task with a sticky key the one that
	// the key has chosen.
	Placement Placement
	// AgingStep is how much waiting one step of priority is worth: for each step a task may have
	// been submitted that much later, and still go first. So a task of low priority waits longer,
	// but not for ever. Default 10 s, maximum a year.
	AgingStep time.Duration

	// Codec seals the inputs that this process submits and the outputs and checkpoints of its
	// handlers, and opens what others have sealed. Headers, keys, ids, kinds, progress and the texts
	// of errors are not sealed. Every worker of the namespace needs the keys. Default nil: nothing is
	// sealed, and a task with a sealed input is left to other workers.
	Codec Codec
	// AcceptPlain says that values which are not sealed are accepted although Codec is set. It is for
	// the time in which a codec is introduced. Default false: they are refused with ErrNotSealed.
	AcceptPlain bool
	// Middleware goes around the handlers of all kinds. The first is the outermost.
	Middleware []Middleware
	// SubmitMiddleware goes around the submissions of this process. The first is the outermost.
	SubmitMiddleware []SubmitMiddleware
	// MaxResult is how large the output of a task may be, in bytes. Default 16 MiB, maximum 1 GiB.
	// An output above 64 KiB is kept in the object store OBJ_TASKS_<namespace>. Without
	// StreamAutoCreate, create the store with [CreateObjects]. While the store is missing, a task
	// with such an output waits for it for five minutes, and is then dead. Requeue the task when
	// the store exists.
	MaxResult int
	// LargeRetention is how long outputs above 64 KiB are kept at most. Default 24 h, minimum 1 min,
	// maximum 10 years. Such an output leaves before, an hour or two after its outcome. A kind
	// whose Retention is longer cannot have such outputs. LargeRetention takes effect when the
	// object store is created.
	LargeRetention time.Duration

	// Verify says whether a worker checks what proves each frame that it is handed.
	Verify Verify
	// AnswerTimeout is how long a worker may take to answer a frame before it is sent again.
	// Default 500 ms, minimum 50 ms, maximum 1 h.
	AnswerTimeout time.Duration

	domain, apiPrefix string // the session's
}

// Verify says whether a worker checks that frames come from the leader.
type Verify uint8

const (
	// VerifyFrames: the worker checks the proof of every frame, however many tasks are in it. For
	// the first ones that is a signature, whose check takes some 40 µs. For the others it is an
	// HMAC under a key that the worker shares with the scheduler, which takes some 2 µs.
	VerifyFrames Verify = iota
	// VerifyOff: the worker checks no proof. Anybody who may publish to the worker's subjects
	// can then have it run anything, and the worker tells a deposed scheduler apart by its epoch
	// alone. Use it only in namespaces whose permissions keep everybody else out.
	VerifyOff
)

// ClientConfig configures a [Client]. Namespace is required; see [Config] for the fields.
type ClientConfig struct {
	Namespace string
	// Domain is the JetStream domain that keeps the tasks. It is needed on leaf nodes, and wherever
	// several domains can be reached. Default "": the domain that answers without a prefix.
	Domain string
	// APIPrefix is the prefix of a JetStream API that another account exports, such as
	// "JS.acme.API". Domain and APIPrefix cannot be used together.
	APIPrefix        string
	StreamAutoCreate bool
	Replicas         int
	Storage          jetstream.StorageType
	MaxBytes         int64
	StreamID         string
	// LargeRetention is for [CreateObjects].
	LargeRetention time.Duration
	// Codec seals the inputs that are submitted, and opens outputs.
	Codec            Codec
	AcceptPlain      bool
	SubmitMiddleware []SubmitMiddleware
}

const (
	maxAnswerTimeout = time.Hour
	// year bounds what is not kept in a record. A hundred aging steps lie between priority 0 and
	// the highest one, and still fit an instant.
	year = 365 * 24 * time.Hour
)

func (c Config) withDefaults(session election.SessionConfig) Config {
	c.domain, c.apiPrefix = session.Domain, session.APIPrefix
	if c.Slots == 0 {
		c.Slots = 4 * runtime.GOMAXPROCS(0)
	}
	if c.SchedulerWorks == nil {
		c.SchedulerWorks = new(true)
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = session.DrainTimeout
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
	fault(c.Role != "", "Role", "it is missing: name the role whose leader hands out")
	fault(c.Role == "" || naming.Valid(c.Role), "Role",
		"%q cannot be part of a key: use letters, digits, - _ = / and dots", c.Role)
	fault(c.Slots > 0 && c.Slots <= 4096, "Slots", "%d: use 1 to 4096", c.Slots)
	fault(c.DrainTimeout > 0 && c.DrainTimeout <= year, "DrainTimeout",
		"%v: use a positive duration of at most %v, or 0 for the session's", c.DrainTimeout, year)
	fault(c.CrashBudget > 0 && c.CrashBudget < 1000, "CrashBudget", "%d: use 1 to 999", c.CrashBudget)
	fault(c.AnswerTimeout >= 50*time.Millisecond && c.AnswerTimeout <= maxAnswerTimeout, "AnswerTimeout",
		"%v: use 50ms to %v", c.AnswerTimeout, maxAnswerTimeout)
	fault(c.AgingStep > 0 && c.AgingStep <= year, "AgingStep",
		"%v: use a positive duration of at most %v, or 0 for 10s", c.AgingStep, year)
	fault(c.MaxResult > 0 && c.MaxResult <= record.MaxOutput, "MaxResult", "%d: use 1 to %d bytes, or 0 for 16 MiB",
		c.MaxResult, record.MaxOutput)
	fault(c.Verify <= VerifyOff, "Verify", "%d: use VerifyFrames or VerifyOff", c.Verify)
	wrong := checkLabels(c.Labels)
	fault(wrong == "", "Labels", "%s", wrong)
	for i, m := range c.Middleware {
		fault(m != nil, "Middleware", "number %d is nil: leave it out", i)
	}
	return errors.Join(append(faults, c.client().validate())...)
}

func (c Config) client() ClientConfig {
	return ClientConfig{
		Namespace: c.Namespace, Domain: c.domain, APIPrefix: c.apiPrefix, StreamAutoCreate: c.StreamAutoCreate,
		Replicas: c.Replicas, Storage: c.Storage, MaxBytes: c.MaxBytes, StreamID: c.StreamID,
		LargeRetention: c.LargeRetention, Codec: c.Codec, AcceptPlain: c.AcceptPlain, SubmitMiddleware: c.SubmitMiddleware,
	}
}

// sealer is the codec for the namespace, nil for none.
func (c ClientConfig) sealer() *sealed.Sealer {
	if c.Codec == nil {
		return nil
	}
	return sealed.New(c.Namespace, c.Codec, c.AcceptPlain)
}

// worker is the part of the configuration that the worker needs.
func (c Config) worker() worker.Config {
	return worker.Config{
		Namespace: c.Namespace, Role: c.Role, Slots: c.Slots, Labels: c.Labels, DrainTimeout: c.DrainTimeout,
		AnswerTimeout: c.AnswerTimeout,
		MaxResult:     c.MaxResult, Unverified: c.Verify == VerifyOff, Stream: c.client().stream(),
		Sealer: c.client().sealer(),
	}
}

// scheduler is the part of the configuration that the scheduler needs.
func (c Config) scheduler() scheduler.Config {
	s := scheduler.Config{
		Namespace: c.Namespace, Role: c.Role, SchedulerWorks: *c.SchedulerWorks, CrashBudget: c.CrashBudget,
		AgingStep:     c.AgingStep,
		AnswerTimeout: c.AnswerTimeout, Stream: c.client().stream(),
	}
	if c.Placement != nil {
		s.Placement = placement{c.Placement, new([]Candidate)}
	}
	return s
}

// stream is the part of the configuration that opens the stream and the object store.
func (c ClientConfig) stream() stream.Options {
	c = c.withDefaults()
	reach, _ := natskv.NewReach(c.Domain, c.APIPrefix) // validate reports the error
	return stream.Options{
		Namespace: c.Namespace, Reach: reach, ID: c.StreamID, AutoCreate: c.StreamAutoCreate, Replicas: c.Replicas,
		Storage: c.Storage, MaxBytes: c.MaxBytes, LargeRetention: c.LargeRetention,
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

// minMaxBytes is the smallest bound of a stream: below it hardly a task could be stored.
const minMaxBytes = 1 << 20

func (c ClientConfig) validate() error {
	c = c.withDefaults()
	var faults []error
	if !naming.Word(c.Namespace, 64) {
		faults = append(faults,
			&ConfigError{"Namespace", fmt.Sprintf("%q: use letters, digits, - and _, at most 64", c.Namespace)})
	}
	if _, err := natskv.NewReach(c.Domain, c.APIPrefix); err != nil {
		faults = append(faults, &ConfigError{"Domain, APIPrefix", err.Error()})
	}
	if c.StreamID != "" && c.StreamAutoCreate {
		faults = append(faults, &ConfigError{"StreamID", "a stream that is created gets another id: clear StreamAutoCreate"})
	}
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		faults = append(faults, &ConfigError{"Replicas", fmt.Sprintf("%d: use 1, 3 or 5", c.Replicas)})
	}
	if c.MaxBytes != 0 && c.MaxBytes < minMaxBytes {
		faults = append(faults, &ConfigError{"MaxBytes", fmt.Sprintf("%d: use at least %d (1 MiB), or 0 for no bound",
			c.MaxBytes, minMaxBytes)})
	}
	for i, m := range c.SubmitMiddleware {
		if m == nil {
			faults = append(faults, &ConfigError{"SubmitMiddleware", fmt.Sprintf("number %d is nil: leave it out", i)})
		}
	}
	if c.AcceptPlain && c.Codec == nil {
		faults = append(faults, &ConfigError{"AcceptPlain", "without a Codec nothing is refused: leave it out"})
	}
	if c.LargeRetention < record.MinRetention || c.LargeRetention > record.MaxDuration {
		faults = append(faults, &ConfigError{"LargeRetention", fmt.Sprintf("%v: use %v to %v, or 0 for 24h",
			c.LargeRetention, record.MinRetention, record.MaxDuration)})
	}
	return errors.Join(faults...)
}

// ConfigError is one fault of a configuration. All faults of one configuration are joined.
type ConfigError struct {
	Field string
	// Fix says what the value is and what to use instead.
	Fix string
}

func (e *ConfigError) Error() string { return "assign: " + e.Field + ": " + e.Fix }
