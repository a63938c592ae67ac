package record

import "time"

// ReadWithin bounds one reading of a record.
const ReadWithin = 5 * time.Second

// StoreElsewhere is the advice about an input that does not fit.
const StoreElsewhere = "store it elsewhere and pass a reference, or raise the server's max_payload"

// MaxKeys bounds the keys of a submission, encoded: three of MaxKey bytes and one of MaxFair, whose
// every byte takes six.
const MaxKeys = 3*6*MaxKey + 6*MaxFair + 80

// MaxFair bounds a fair key, in bytes.
const MaxFair = 200

// MaxDuration bounds the durations in records: 10 years.
const MaxDuration = 10 * 365 * 24 * time.Hour
