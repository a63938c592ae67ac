package election

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

func TestPatience(t *testing.T) {
	unmade := fmt.Errorf("watch: %w", context.DeadlineExceeded)
	p := patience(watchTimeout)
	for i, end := range []struct {
		lasted time.Duration
		err    error
		want   time.Duration
	}{
		{time.Hour, natskv.ErrWatchLost, watchTimeout}, // whatever it was, it was not too much to ask for
		{watchTimeout, unmade, 2 * watchTimeout},
		{time.Second, natskv.ErrWatchLost, 2 * watchTimeout}, // says nothing about time
		{time.Second, nil, 2 * watchTimeout},                 // a new one was asked for
		{2 * watchTimeout, unmade, 4 * watchTimeout},
		{maxPatience, unmade, maxPatience},
		{enough, unmade, maxPatience}, // the process was stopped
		{enough - 1, natskv.ErrWatchLost, maxPatience},
		{enough, nil, watchTimeout},
		{watchTimeout, unmade, 2 * watchTimeout},
	} {
		late := p.after(end.lasted, end.err)
		if time.Duration(p) != end.want || late != (end.err == unmade) {
			t.Errorf("end %d, after %v with %v: %v, late %t; wants %v", i, end.lasted, end.err, time.Duration(p), late, end.want)
		}
	}
}
