//go:build unix

package testbinary

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"testing"
)

// TestWhatATestHasStartedEndsWithIt: of a test that is interrupted no process is left, which would
// hold its output open.
func TestWhatATestHasStartedEndsWithIt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 3600 & echo started; wait")
	grouped(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("nothing was started: ", lines.Err())
	}
	stop()
	if lines.Scan() { // until all who could write have ended
		t.Errorf("it says %q", lines.Text())
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) && !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
