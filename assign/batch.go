package assign

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// WithEach gives each task of a [SubmitBatch] its own options. i counts the inputs from 0.
func WithEach(options func(i int) []SubmitOption) SubmitOption {
	return func(s *submission) {
		if options == nil {
			s.Refuse("WithEach(nil): leave it out, or give it a function")
		}
		s.each = options
	}
}

// SubmitBatch is [Submit] for many inputs. It submits a bounded number of them at once. It is not
// atomic: each task is stored or not on its own. The result has a place for every input. The place
// is nil if the task was not stored, as far as is known, and the error joins the reasons. Give
// WithID and WithUnique, which name one task, through [WithEach].
func SubmitBatch[In, Out any](ctx context.Context, to Submitter, k Kind[In, Out], inputs []In,
	opts ...SubmitOption,
) ([]*Pending[Out], error) {
	common := k.submission()
	common.apply(opts)
	if common.ID != "" || common.Unique != "" {
		return nil, fmt.Errorf("%w: WithID and WithUnique name one task: give them through WithEach", ErrInvalidOption)
	}
	c, err := clientOf(ctx, to)
	if err != nil {
		return nil, err
	}
	all := make([]*Pending[Out], len(inputs))
	return all, windowed(c, len(inputs), func(i int) error {
		s := common.of(i)
		fairly(&s, inputs[i])
		data, err := encode(inputs[i])
		if err != nil {
			return taskerr.Doing(err, "submit %s", k.name)
		}
		p, err := c.Submit(ctx, &s.Submission, data)
		if err != nil {
			return err
		}
		all[i] = &Pending[Out]{to, p}
		return nil
	})
}

// of is the submission of one task of a batch.
func (s submission) of(i int) submission {
	if each := s.each; each != nil {
		s.each = nil
		s.apply(each(i))
		if s.each != nil {
			s.Refuse("WithEach among the options of one task: give its options as they are")
		}
	}
	return s
}

// windowed does something for each input of a batch, for a bounded number at once.
func windowed(c *client.Client, inputs int, one func(i int) error) error {
	faults := make([]error, inputs)
	var window sync.WaitGroup
	next := make(chan int)
	width := 0
	for i := range inputs {
		select {
		case next <- i:
			continue
		default:
		}
		if width >= c.Window() {
			next <- i
			continue
		}
		width++
		window.Go(func() {
			faults[i] = one(i)
			for i := range next {
				faults[i] = one(i)
			}
		})
	}
	close(next)
	window.Wait()
	return joinFaults(faults)
}

// joinFaults is the faults of a batch, in the order of the inputs: one line for each cause, with
// the inputs that it has stopped.
func joinFaults(faults []error) error {
	type cause struct {
		first, count int
		err          error
	}
	var causes []*cause
	known := map[string]*cause{}
	for i, err := range faults {
		if err == nil {
			continue
		}
		root := err
		for next := errors.Unwrap(root); next != nil; next = errors.Unwrap(root) {
			root = next
		}
		c := known[root.Error()]
		if c == nil {
			c = &cause{first: i, err: err}
			causes, known[root.Error()] = append(causes, c), c
		}
		c.count++
	}
	all := make([]error, len(causes))
	for i, c := range causes {
		if all[i] = fmt.Errorf("input %d: %w", c.first, c.err); c.count > 1 {
			all[i] = fmt.Errorf("input %d and %d others: %w", c.first, c.count-1, c.err)
		}
	}
	return errors.Join(all...)
}
