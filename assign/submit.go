package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// Submit stores a task and returns when it is stored. From then on the task runs at least once and
// gets exactly one outcome, even if processes crash. Submit needs no leader. Until ctx ends, it
// waits for the connection and retries transient faults. Submitting again with the same id is safe.
//
// An encoded input may be as large as the server's max_payload less 64 KiB. Default max_payload is
// 1 MiB. Store a larger input elsewhere, and submit a reference to it.
//
// Errors: ErrInvalidID, ErrInvalidOption, ErrInvalidKind, ErrOtherKind, ErrTooLarge, ErrNoClient,
// ErrStreamNotFound, an unfit stream, ErrStreamFull at once, ErrClosed, the encoder's, a permanent
// fault of the connection, ctx's with the last fault. If an attempt was not answered, and a later
// one finds no room, the error says that the task may be stored, and names it.
func Submit[In, Out any](ctx context.Context, to Submitter, k Kind[In, Out], in In,
	opts ...SubmitOption,
) (*Pending[Out], error) {
	data, err := encode(in)
	if err != nil {
		return nil, taskerr.Doing(err, "submit %s", k.name)
	}
	c, err := clientOf(ctx, to)
	if err != nil {
		return nil, err
	}
	s := k.submission()
	s.apply(opts)
	fairly(&s, in)
	if s.each != nil {
		s.Refuse("WithEach is for SubmitBatch: give its options to Submit as they are")
	}
	p, err := c.Submit(ctx, &s.Submission, data)
	if err != nil {
		return nil, err
	}
	return &Pending[Out]{to, p}, nil
}

// Ref is the output of a task, by reference: an input that has one takes few bytes, however large
// the output is. See [Chain].
type Ref[T any] struct {
	Task string `json:"task"`
}

// RefTo is a reference to the output of a task.
func RefTo[T any](p *Pending[T]) Ref[T] { return Ref[T]{Task: p.ID()} }

// Get is [Pending.Wait] of the task. In the handler of a task that waits for that one, see [After],
// the outcome is there and stays until this task has ended. An output above 64 KiB leaves after
// [Config].LargeRetention.
func (r Ref[T]) Get(ctx context.Context, in Submitter) (T, error) {
	return (&Pending[T]{in, client.Find(r.Task, "")}).Wait(ctx)
}

// Chain submits a task that waits for another one with [After], and whose input is the output of
// that one, by reference.
func Chain[A, B any](ctx context.Context, to Submitter, k Kind[Ref[A], B], after *Pending[A],
	opts ...SubmitOption,
) (*Pending[B], error) {
	return Submit(ctx, to, k, RefTo(after), append([]SubmitOption{After(after.ID())}, opts...)...)
}

// FanIn submits a task that waits for some others with [After], 32 at most, and whose input is
// their outputs, by reference and in this order. A task after more than that is the completion of a
// group, see [SubmitGroup].
func FanIn[A, B any](ctx context.Context, to Submitter, k Kind[[]Ref[A], B], after []*Pending[A],
	opts ...SubmitOption,
) (*Pending[B], error) {
	ids, refs := make([]string, len(after)), make([]Ref[A], len(after))
	for i, p := range after {
		ids[i], refs[i] = p.ID(), RefTo(p)
	}
	return Submit(ctx, to, k, refs, append([]SubmitOption{After(ids...)}, opts...)...)
}
