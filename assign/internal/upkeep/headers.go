package upkeep

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	headerPage = 1000
	// readShare bounds the part of the time that is spent reading: one of so many.
	readShare = 100
)

// headers gives each the headers of all tasks, in the order of their revisions. A record that is
// replaced meanwhile comes again.
func headers(ctx context.Context, cfg Config, each func(*natskv.Entry) error) error {
	for from := uint64(0); ; {
		entries, more, err := cfg.Stream.Scan(ctx, cfg.Conn, natskv.Scan{
			Filter: record.QueueKey + ">", From: from, Limit: headerPage, HeadersOnly: true,
		})
		if err != nil {
			return err
		}
		for i := range entries {
			if err := each(&entries[i]); err != nil {
				return err
			}
			from = entries[i].Revision + 1
		}
		if !more {
			return nil
		}
	}
}
