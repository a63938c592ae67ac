package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// report is what came of a group.
type report struct {
	options     options
	status      assign.GroupStatus // as the completion has read it
	began       time.Time
	submitted   time.Duration // the call of SubmitGroup
	took        time.Duration // until the completion has ended
	ran         int           // members, as far as the processes could say it before they were killed
	completions int
	state       assign.State // of the completion, in the end
	kills       []killing
}

func (r *report) print(out io.Writer) {
	s := r.status
	fmt.Fprintf(out, "submitted   in %v; members: %d\n", r.submitted.Round(time.Millisecond), s.Size)
	fmt.Fprintf(out, "ended       %d succeeded, %d dead, %d cancelled, %d expired, %d skipped, %d lost\n",
		s.Succeeded, s.Dead, s.Cancelled, s.Expired, s.Skipped, s.Lost)
	for _, k := range r.kills {
		what, until := "worker", "its tasks run elsewhere"
		if k.scheduler {
			what, until = "scheduler", "another one hands out"
		}
		fmt.Fprintf(out, "killed      %-9s %s; %v later %s\n", what, k.id, k.gap.Round(time.Millisecond), until)
	}
	fmt.Fprintf(out, "attempts    %d or more\n", r.ran)
	fmt.Fprintf(out, "completion  %s; its handler ran %d times\n", r.state, r.completions)
	fmt.Fprintf(out, "took        %v\n", r.took.Round(time.Millisecond))
}

var errWrong = errors.New("not what it has to be")

// check compares the counts with what the members had to come to.
func (r *report) check() error {
	n, s := r.options.members, r.status
	dead := n / 100
	var all []error
	wrong := func(what string, is, want int) {
		if is != want {
			all = append(all, fmt.Errorf("%s: %d, %w: %d", what, is, errWrong, want))
		}
	}
	wrong("members", s.Size, n)
	wrong("succeeded", s.Succeeded, n-dead)
	wrong("dead", s.Dead, dead)
	wrong("killed processes", len(r.kills), r.options.kills)
	if r.state != assign.StateSucceeded || r.completions == 0 { // it runs again if its process was killed
		all = append(all, fmt.Errorf("the completion is %s and ran %d times: %w", r.state, r.completions, errWrong))
	}
	group := assign.GroupRef{Group: s.Name}
	var failed []string
	for i := 99; i < n && len(failed) < 1000; i += 100 {
		failed = append(failed, group.MemberID(i))
	}
	if !slices.Equal(s.Failed, failed) {
		all = append(all, fmt.Errorf("the first failed members: %w", errWrong))
	}
	return errors.Join(all...)
}

// spotCheck compares the outputs of a few members.
func (r *report) spotCheck(ctx context.Context, c *assign.Client) error {
	group := assign.GroupRef{Group: r.status.Name}
	for i := 0; i < r.options.members; i += max(1, r.options.members/20) {
		out, err := assign.Find(c, member, group.MemberID(i)).Wait(ctx)
		if errors.Is(err, assign.ErrTaskDead) && fails(i) {
			continue
		}
		if err != nil {
			return err
		}
		if out != i*i {
			return fmt.Errorf("member %d: %d, %w: %d", i, out, errWrong, i*i)
		}
	}
	return nil
}
