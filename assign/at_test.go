package assign_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDueAtATime: a task runs when the server's clock has come to its time, also after a scheduler
// has followed another, and one whose time has passed runs at once.
func TestDueAtATime(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		ran := newTally()
		c := New(t, s)
		due := time.Now().Add(time.Minute)
		later, err := assign.Submit(t.Context(), c, double, 1, assign.WithDelay(time.Hour), assign.At(due))
		if err != nil {
			t.Fatal(err)
		}
		if st, err := later.Status(t.Context()); err != nil || st.State != assign.StateDelayed || !st.Due.Equal(due) {
			t.Errorf("while nobody leads: %+v, %v; want it due at %v", st, err, due)
		}
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		past, err := assign.Submit(t.Context(), c, double, 2, assign.At(due.AddDate(-1, 0, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := past.Wait(t.Context()); err != nil || out != 4 {
			t.Errorf("one whose time has passed: %v, %v", out, err)
		}
		if st, err := later.Status(t.Context()); err != nil || st.State != assign.StateDelayed || !st.Due.Equal(due) {
			t.Errorf("the scheduler says %+v, %v; want it due at %v", st, err, due)
		}
		a.close(t)
		leader(t, newNode(t, s, "b", doubling(t, "b", ran)))
		if out, err := later.Wait(t.Context()); err != nil || out != 2 {
			t.Errorf("at its time: %v, %v", out, err)
		}
		if early := time.Until(due); early > 0 {
			t.Errorf("it ran %v before its time", early)
		}
	})
}

func TestTimesThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		for text, opts := range map[string][]assign.SubmitOption{
			"use a time from 1970":  {assign.At(time.Time{})},
			"within the next 10":    {assign.At(time.Now().AddDate(11, 0, 0))},
			"use a longer deadline": {assign.WithDeadline(time.Minute), assign.At(time.Now().Add(time.Hour))},
		} {
			_, err := assign.Submit(t.Context(), c, double, 1, opts...)
			says(t, err, assign.ErrInvalidOption, text)
		}
		p, err := assign.Submit(t.Context(), c, double, 1, assign.At(time.Now().Add(time.Hour)), assign.WithDelay(0))
		if err != nil {
			t.Fatal(err)
		}
		if st, err := p.Status(t.Context()); err != nil || st.State != assign.StatePending {
			t.Errorf("WithDelay after At: %+v, %v", st, err)
		}
	})
}
