package cli

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// StorageFlag defines the flag for the storage of a stream.
func StorageFlag(cmd *cobra.Command, storage *string) {
	ChoiceFlag(cmd, storage, "storage", "file", "file or memory; memory is lost when its server ends", "file", "memory")
}

// StorageType returns the storage type for a value of StorageFlag.
func StorageType(name string) jetstream.StorageType {
	if name == "memory" {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// PlacementError explains the refusal of a server that cannot place a stream of these replicas, or
// of this size.
func PlacementError(err error, replicas int) error {
	const notClustered, noPeers, sizeRequired, sizeExceeded = 10074, 10005, 10113, 10122
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.ErrorCode {
	case sizeRequired:
		return ExitWith(ExitFailed,
			errors.New("this account requires a bound for each stream: give --max-bytes 64MiB or more"))
	case sizeExceeded:
		return ExitWith(ExitFailed, errors.New("this account allows fewer bytes for one stream: give less --max-bytes"))
	case notClustered:
		return ExitWith(ExitFailed,
			fmt.Errorf("this server is not in a cluster of %d: give --replicas 1, or connect to such a cluster", replicas))
	case noPeers:
		return ExitWith(ExitFailed,
			fmt.Errorf("the cluster has not enough servers or storage for %d replicas: start the servers that are down, "+
				"or give fewer --replicas: %w", replicas, err))
	}
	return err
}

// BucketError gives an error of a bucket its exit code: a missing or unfit bucket is a failure, not
// a lost connection.
func BucketError(err error) error {
	var unfit *natskv.UnfitError
	if errors.As(err, &unfit) || errors.Is(err, natskv.ErrBucketNotFound) {
		return ExitWith(ExitFailed, err)
	}
	return err
}
