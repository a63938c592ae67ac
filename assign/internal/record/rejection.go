package record

// UnknownEpoch is why a frame is refused whose epoch has not come into view.
const UnknownEpoch = "unknown_epoch"

// Malformed is why a frame is refused that is none; the other reasons are verdicts of workers too.
const Malformed = "malformed"
