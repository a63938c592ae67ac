package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Handler runs one attempt on encoded input and returns encoded output.
type Handler func(ctx context.Context, input []byte, run bridge.TaskRun) ([]byte, error)

// Registry is the state of a worker that outlives a lease: the handlers, the tasks whose handlers
// have outlived their session, and the pause after a panic. It is safe for concurrent use.
type Registry struct {
	offer chan struct{} // size 1: the handlers have changed

	mu       sync.Mutex
	handlers map[string]Handler
	shapes   map[string]string // of their inputs
	keys     []string          // that open them
	declared map[string]*record.Declaration
	panicked map[string]time.Time // when a panic of a kind's handler was last reported
	blocked  map[string]int       // tasks whose handlers have outlived their session, and the slots that they take

	panics int       // of loops, in a row
	resume time.Time // when the next loop may begin

	unchecked sync.Once // it was said that signatures are not checked
}

// NewRegistry returns a registry without handlers. keys are those that open sealed inputs.
func NewRegistry(keys []string) *Registry {
	return &Registry{
		keys:  keys,
		offer: make(chan struct{}, 1), handlers: map[string]Handler{}, shapes: map[string]string{},
		declared: map[string]*record.Declaration{}, panicked: map[string]time.Time{}, blocked: map[string]int{},
	}
}

// Handled is a kind that is handled. Shape tells types of inputs apart. Declared is what this
// program says about it, nil for nothing.
type Handled struct {
	Name, Shape string
	Declared    *record.Declaration
}

// Add gives a kind its handler, if offer agrees to all kinds that there are then. Errors:
// taskerr.ErrDuplicateKind, and those of offer.
func (r *Registry) Add(k Handled, h Handler, offer func(kinds []string, build string) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handlers[k.Name] != nil {
		return fmt.Errorf("%w: %s", taskerr.ErrDuplicateKind, k.Name)
	}
	r.shapes[k.Name] = k.Shape
	if err := offer(append(slices.Sorted(maps.Keys(r.handlers)), k.Name), buildOf(r.shapes, r.keys)); err != nil {
		delete(r.shapes, k.Name)
		return err
	}
	r.handlers[k.Name] = h
	if k.Declared != nil {
		r.declared[k.Name] = k.Declared
	}
	select {
	case r.offer <- struct{}{}:
	default:
	}
	return nil
}

// kinds are those that have a handler, and the build of what decodes their inputs.
func (r *Registry) kinds() (all []string, build string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.handlers)), buildOf(r.shapes, r.keys)
}

// declarations are what this program says about its kinds, by kind.
func (r *Registry) declarations() map[string]*record.Declaration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.declared)
}

// any reports whether there is a handler.
func (r *Registry) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.handlers) > 0
}

func (r *Registry) handler(kind string) Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handlers[kind]
}

// block counts the slots of a task's handlers that still run though their session is gone.
func (r *Registry) block(id string, slots int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked[id] += slots; r.blocked[id] == 0 {
		delete(r.blocked, id)
	}
}

// blockedTasks are the tasks of such handlers with their slots, nil for none.
func (r *Registry) blockedTasks() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.blocked) == 0 {
		return nil
	}
	return maps.Clone(r.blocked)
}
