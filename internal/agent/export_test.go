package agent

// OfferedName is what tests ask directly.
var OfferedName = offeredName
