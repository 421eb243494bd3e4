package replay

// ChangesOf lists where two JSON texts differ.
var ChangesOf = changesOf
