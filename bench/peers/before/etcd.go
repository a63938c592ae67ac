package before

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Campaign waits until this process leads, works, and resigns.
func Campaign(ctx context.Context, client *clientv3.Client, name string, work func(context.Context) error) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	defer session.Close()
	e := concurrency.NewElection(session, "/scheduler")
	if err := e.Campaign(ctx, name); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-session.Done(): // the lease is lost
			stop()
		case <-working.Done():
		}
	}()
	return errors.Join(work(working), e.Resign(context.WithoutCancel(ctx)))
}
