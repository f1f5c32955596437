/** Amazon S3, and what speaks its language: the only place that knows the vendor's library. */
@NullMarked
package io.troupe.store.s3;

import org.jspecify.annotations.NullMarked;
