package cli

import (
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// TestErrorDocument: each error of a bucket has a code of its own, whichever package reports it.
func TestErrorDocument(t *testing.T) {
	for err, want := range map[error]string{
		election.ErrOtherBucket:                          "other_bucket",
		&election.OtherBucketError{Bucket: "roles"}:      "other_bucket",
		&natskv.OtherBucketError{Bucket: "roles"}:        "other_bucket",
		election.ErrCopiedBucket:                         "copied_bucket",
		&natskv.CopiedBucketError{Bucket: "roles"}:       "copied_bucket",
		&natskv.AdoptingError{Bucket: "roles"}:           "adopting",
		election.ErrNoDomain:                             "no_domain",
		&natskv.NoDomainError{Domain: "hub"}:             "no_domain",
		&natskv.NoBackupError{Bucket: "roles"}:           "no_backup",
		election.ErrStoreRegressed:                       "store_regressed",
		election.ErrBucketNotFound:                       "bucket_not_found",
		&natskv.NotFoundError{Bucket: "roles"}:           "bucket_not_found",
		fmt.Errorf("lost: %w", election.ErrBucketUnfit):  "bucket_unfit",
		fmt.Errorf("lost: %w", election.ErrOtherBucket):  "other_bucket",
		fmt.Errorf("failed: %w", election.ErrPermission): "permission",
	} {
		d := ErrorDocument(err, err.Error(), ExitFailed, "rolectl")
		if d.Error.Code != want || d.Error.Fix == "" {
			t.Errorf("%v: code %q, want %q; fix %q", err, d.Error.Code, want, d.Error.Fix)
		}
	}
}
