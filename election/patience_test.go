package election

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

func TestPatience(t *testing.T) {
	silent := fmt.Errorf("%w for 5s", natskv.ErrSilent)
	unmade := fmt.Errorf("watch: %w", context.DeadlineExceeded)
	p := patience(watchTimeout)
	for i, end := range []struct {
		lasted time.Duration
		err    error
		want   time.Duration
	}{
		{time.Hour, silent, watchTimeout}, // whatever it was, it was not too much to ask for
		{watchTimeout, unmade, 2 * watchTimeout},
		{time.Second, natskv.ErrWatchLost, 2 * watchTimeout}, // says nothing about time
		{time.Second, nil, 2 * watchTimeout},                 // a new one was asked for
		{20 * time.Second, silent, 4 * watchTimeout},
		{30 * time.Second, unmade, maxPatience},
		{50 * time.Second, silent, maxPatience},
		{enough, nil, watchTimeout},
		{enough - 1, silent, 2 * watchTimeout},
		{enough, silent, watchTimeout},
	} {
		late := p.after(end.lasted, end.err)
		if time.Duration(p) != end.want || late != (end.err == silent || end.err == unmade) {
			t.Errorf("end %d, after %v with %v: %v, late %t; wants %v", i, end.lasted, end.err, time.Duration(p), late, end.want)
		}
	}
}
