package record

import "time"

// ReadWithin bounds one reading of a record.
const ReadWithin = 5 * time.Second

// StoreElsewhere is the advice about an input that does not fit.
const StoreElsewhere = "store it elsewhere and pass a reference, or raise the server's max_payload"

// MaxKeys bounds the keys of a submission, encoded: three of maxKey bytes whose every byte takes
// six.
const MaxKeys = 3*6*MaxKey + 64

// MaxDuration bounds the durations in records: 10 years.
const MaxDuration = 10 * 365 * 24 * time.Hour
