package kube

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// LeaderLabel labels the pod that leads a role, so that people and dashboards see it:
//
//	kubectl get pods -l rolemanager/scheduler=leader
//
// Never let a Service select by it. A pod that is cut off from the API server keeps its label while
// another one leads, and the Service then has two pods. [LeaderEndpoint] is for traffic.
//
// The service account needs to patch pods.
type LeaderLabel struct {
	// Key of the label; its value is "leader". Default: "rolemanager/" and the role.
	Key string
	// Pod is the name of this pod. Default: the environment variable POD_NAME.
	Pod string
	// Client talks to the API server. Default: [InCluster].
	Client *Client
	// OnError is called with what keeps the label from being set, which is tried again, or removed.
	// Default: slog.Warn.
	OnError func(error)
}

// Lead is work that labels the pod in the term of work, and removes the label when the term ends.
// The work begins at once, whether the API server answers or not. An error of the configuration
// ends the term: *[ConfigError], [ErrNotInCluster].
func (l LeaderLabel) Lead(
	work func(context.Context, *election.Term) error,
) func(context.Context, *election.Term) error {
	return func(ctx context.Context, t *election.Term) error {
		pod, client := cmp.Or(l.Pod, os.Getenv("POD_NAME")), l.Client
		if pod == "" {
			return &ConfigError{"Pod", "it is empty: set POD_NAME from metadata.name"}
		}
		if client == nil {
			var err error
			if client, err = InCluster(); err != nil {
				return err
			}
		}
		told := l.OnError
		if told == nil {
			told = func(err error) { slog.Warn("leader label", "pod", pod, "error", wording.Plain(err)) }
		}
		key := cmp.Or(l.Key, managedBy+"/"+t.Role())
		label := func(ctx context.Context, value any) error {
			patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}
			return client.do(ctx, http.MethodPatch, client.pod(pod), "application/merge-patch+json", patch, &struct{}{})
		}
		setting, stop := context.WithCancel(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = backoff.Retry(setting, func() (struct{}, error) { // an error was told, or the term has ended
				return struct{}{}, label(setting, "leader")
			}, backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) { told(err) }))
			<-setting.Done()
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			if err := label(ending, nil); err != nil {
				told(err)
			}
		}()
		defer func() {
			stop()
			<-over
		}()
		return work(ctx, t)
	}
}
