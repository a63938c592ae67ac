package inventory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Overview asks the scheduler. The server does not answer a denied question, but it reports the
// denial to the connection, which ends the wait. Errors: cli.ErrDenied and those of
// assign.GetOverview.
func Overview(ctx context.Context, nc *nats.Conn, c *assign.Client, namespace string) (assign.Overview, error) {
	type answer struct {
		overview assign.Overview
		err      error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan answer, 1)
	go func() {
		o, err := assign.GetOverview(ctx, c)
		answered <- answer{o, err}
	}()
	before := nc.LastError()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case a := <-answered:
			return a.overview, a.err
		case <-look.C:
			if ctl := QuestionDenied(nc, namespace); nc.LastError() != before && ctl != "" {
				cancel()
				<-answered
				return assign.Overview{}, fmt.Errorf("%w: this user may not publish to %s", cli.ErrDenied, ctl)
			}
		}
	}
}

// QuestionDenied returns the subject of questions to the scheduler of a namespace, if the last
// complaint of the server is that this user may not publish there, else "". The subject has the id
// of the stream in it.
func QuestionDenied(nc *nats.Conn, namespace string) string {
	d := natskv.Denied(nc.LastError())
	if d == nil || d.Subscribe || !strings.HasPrefix(d.Subject, "$TASKS."+namespace+".") ||
		!strings.HasSuffix(d.Subject, ".ctl") {
		return ""
	}
	return d.Subject
}
