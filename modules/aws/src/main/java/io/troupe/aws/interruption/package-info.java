/** Notices of an instance's metadata that the instance will end. */
@NullMarked
package io.troupe.aws.interruption;

import org.jspecify.annotations.NullMarked;
