package assign

import (
	"context"

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
// fault of the connection, ctx's with the last fault.
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
	if s.each != nil {
		s.Refuse("WithEach is for SubmitBatch: give its options to Submit as they are")
	}
	p, err := c.Submit(ctx, &s.Submission, data)
	if err != nil {
		return nil, err
	}
	return &Pending[Out]{to, p}, nil
}
