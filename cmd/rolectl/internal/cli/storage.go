package cli

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// StorageFlag is where a stream is kept.
func StorageFlag(cmd *cobra.Command, storage *string) {
	ChoiceFlag(cmd, storage, "storage", "file", "file or memory; what is in memory is lost with its server", "file", "memory")
}

func StorageType(name string) jetstream.StorageType {
	if name == "memory" {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// PlacementError says plainly that a server has no room for so many replicas.
func PlacementError(err error, replicas int) error {
	const notClustered, noPeers = 10074, 10005
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.ErrorCode {
	case notClustered:
		return ExitWith(ExitFailed, fmt.Errorf("this server has no cluster of %d: give --replicas 1, or connect to one that has", replicas))
	case noPeers:
		return ExitWith(ExitFailed, fmt.Errorf("the cluster of this server cannot keep %d replicas, for want of servers or of room: give fewer --replicas: %w", replicas, err))
	}
	return err
}

// BucketError gives an error of the store its exit code: the bucket's own faults are told from those of the way there.
func BucketError(err error) error {
	var unfit *natskv.UnfitError
	if errors.As(err, &unfit) || errors.Is(err, natskv.ErrBucketNotFound) {
		return ExitWith(ExitFailed, err)
	}
	return err
}
