package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

func bucket(a *app) *cobra.Command {
	cmd := group("bucket", "Make and check the bucket that the roles live in")
	cmd.AddCommand(create(a), check(a))
	return cmd
}

func create(a *app) *cobra.Command {
	var replicas int
	var storage string
	var maxTTL time.Duration
	var dryRun bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a bucket; one that is there already is checked and left as it is",
		Example: "  rolectl bucket create roles --replicas 3\n  rolectl bucket create roles --dry-run   # the same as a command of the nats tool",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !validBucket.MatchString(args[0]) {
				return usage(invalidBucket(args[0]))
			}
			cfg := natskv.Config{Bucket: args[0], Replicas: replicas, MaxTTL: maxTTL, Storage: storageOf(storage)}
			if dryRun {
				return a.printCreations(cmd, args[0], func(ctx context.Context, nc *nats.Conn) error {
					_, err := natskv.Create(ctx, nc, cfg)
					return err
				})
			}
			return a.onServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				b, err := natskv.Create(ctx, nc, cfg)
				if err != nil {
					return fault(unplaced(err, replicas))
				}
				if cmd.Flags().Changed("replicas") && b.Replicas() != replicas {
					a.say("bucket %s was there already, with replicas %d, and is left so: nats stream edit KV_%[1]s --replicas %[3]d changes that", b.Name(), b.Replicas(), replicas)
				}
				if cmd.Flags().Changed("max-ttl") && b.MaxTTL() != maxTTL {
					a.say("bucket %s was there already, with TTL up to %v, and is left so: make another one for %v", b.Name(), b.MaxTTL(), maxTTL)
				}
				return a.printBucket(fitness(b), fmt.Sprintf("bucket %s is there and fit: replicas %d, TTL up to %v", b.Name(), b.Replicas(), b.MaxTTL()))
			})
		},
	}
	replicasFlag(cmd, &replicas)
	storageFlag(cmd, &storage)
	atLeast(cmd, &maxTTL, "max-ttl", time.Second, natskv.DefaultMaxTTL, "the longest TTL that a session may have")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the equivalent command of the nats tool, and make nothing")
	return cmd
}

// storageFlag is where a stream is kept.
func storageFlag(cmd *cobra.Command, storage *string) {
	oneOf(cmd, storage, "storage", "file", "file or memory; what is in memory is lost with its server", "file", "memory")
}

func storageOf(name string) jetstream.StorageType {
	if name == "memory" {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

func check(a *app) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use: "check NAME", Short: "Say whether a bucket is fit for elections, and with --fix upgrade it in place",
		Example: "  rolectl bucket check roles\n  rolectl bucket check roles --fix", Args: takes,
		ValidArgsFunction: a.completeBuckets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !validBucket.MatchString(args[0]) {
				return usage(invalidBucket(args[0]))
			}
			return a.onServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				return a.checkBucket(ctx, nc, args[0], fix)
			})
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "upgrade the bucket in place; one that has to be made anew is left as it is")
	return cmd
}

// checkBucket opens a bucket, after a repair if so wanted.
func (a *app) checkBucket(ctx context.Context, nc *nats.Conn, name string, fix bool) error {
	var repaired []string
	if fix {
		var err error
		if repaired, err = natskv.Repair(ctx, nc, name); err != nil {
			for _, r := range repaired { // what remains is the error
				a.say("repaired: %s", r)
			}
			if errors.As(err, new(*natskv.UnfitError)) && len(repaired) == 0 {
				a.say("nothing was changed: not all that is wrong can be repaired in place, and a bucket that stays unfit is left as it is")
			}
			return a.unfit(name, err, repaired)
		}
	}
	b, err := natskv.Open(ctx, nc, name)
	if err != nil {
		return a.unfit(name, err, repaired)
	}
	d := fitness(b)
	d.Repaired = repaired
	text := "bucket " + name + " is fit"
	for i := len(repaired) - 1; i >= 0; i-- {
		text = "repaired: " + repaired[i] + "\n" + text
	}
	return a.printBucket(d, text)
}

// unfit is the error of a bucket that cannot be used; where that is because of how it is made, a document says it too.
func (a *app) unfit(name string, err error, repaired []string) error {
	var unfit *natskv.UnfitError
	if a.format == "json" && errors.As(err, &unfit) {
		err = errors.Join(err, a.printer().JSON(bucketDoc{Document: show.Of("bucket"), Bucket: name, Faults: unfit.Faults, Repaired: repaired}))
	}
	return fault(err)
}

// bucketDoc is a bucket in JSON documents.
type bucketDoc struct {
	show.Document
	Bucket   string   `json:"bucket"`
	Fit      bool     `json:"fit"`
	Replicas int      `json:"replicas,omitempty"`
	MaxTTL   float64  `json:"max_ttl_seconds,omitempty"`
	Faults   []string `json:"faults,omitempty"`
	Repaired []string `json:"repaired,omitempty"`
}

func fitness(b *natskv.Bucket) bucketDoc {
	return bucketDoc{Document: show.Of("bucket"), Bucket: b.Name(), Fit: true, Replicas: b.Replicas(), MaxTTL: show.Seconds(b.MaxTTL())}
}

func (a *app) printBucket(d bucketDoc, text string) error {
	p := a.printer()
	switch p.Format {
	case "json":
		return p.JSON(d)
	case "name":
		text = d.Bucket
	}
	_, err := fmt.Fprintln(p.W, show.CleanLines(text))
	return err
}

// onServer runs a command over the connection, within the time that one question has.
func (a *app) onServer(cmd *cobra.Command, run func(ctx context.Context, nc *nats.Conn) error) error {
	ctx, cancel, nc, err := a.asking(cmd)
	if err != nil {
		return err
	}
	defer cancel()
	return run(ctx, nc)
}

// unplaced says plainly that a server has no room for so many replicas.
func unplaced(err error, replicas int) error {
	const notClustered, noPeers = 10074, 10005
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.ErrorCode {
	case notClustered:
		return &failure{exitFailed, fmt.Errorf("this server has no cluster of %d: give --replicas 1, or connect to one that has", replicas)}
	case noPeers:
		return &failure{exitFailed, fmt.Errorf("the cluster of this server cannot keep %d replicas, for want of servers or of room: give fewer --replicas: %w", replicas, err)}
	}
	return err
}

// fault gives an error of the store its exit code: the bucket's own faults are told from those of the way there.
func fault(err error) error {
	var unfit *natskv.UnfitError
	if errors.As(err, &unfit) || errors.Is(err, natskv.ErrBucketNotFound) {
		return &failure{exitFailed, err}
	}
	return err
}
