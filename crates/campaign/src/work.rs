//! The trait by which a client describes its work.

use std::fmt::Display;

use serde::{Serialize, de::DeserializeOwned};

use crate::error::Damage;

/// A kind of campaign. Its specification implements this trait: a value with everything that defines the units and their results.
///
/// The specification is sealed in `campaign.json`. Specification and certificates each have a field `program`, certificates also a
/// field `format`: this layer reads both before anything else, so that it tells files of another version from broken ones.
pub trait Work: Clone + PartialEq + Serialize + DeserializeOwned {
    /// A part of the work that one worker does at a time.
    type Unit: Clone + Ord + Display;
    /// The stored result of a unit.
    type Certificate: Serialize + DeserializeOwned;

    /// The program with its version. Files of another one are not trusted.
    const PROGRAM: &'static str;
    /// The version of the files' form.
    const FORMAT: u32;

    /// How many units the campaign has.
    fn units(&self) -> u128;

    /// The unit with this number, from 0 on.
    fn unit(&self, number: u128) -> Option<Self::Unit>;

    /// The number of a unit, the inverse of [`Work::unit`]; none if it is not one of this campaign.
    fn number(&self, unit: &Self::Unit) -> Option<u128>;

    /// Is it a unit of this campaign?
    fn has(&self, unit: &Self::Unit) -> bool {
        self.number(unit).is_some()
    }

    /// The name of the unit's files, without an extension; it does not begin with a dot.
    fn name(unit: &Self::Unit) -> String;

    /// The unit with this name, whether or not it is one of this campaign. The inverse of [`Work::name`].
    fn named(name: &str) -> Option<Self::Unit>;

    /// The unit of a certificate.
    fn unit_of(certificate: &Self::Certificate) -> Self::Unit;

    /// Did this program write the specification, with values that are in range? Files are not trusted.
    ///
    /// # Errors
    /// [`Damage::Foreign`] with the value that differs.
    fn check(&self) -> Result<(), Damage>;

    /// Did this program, with the same rules, write the certificate?
    ///
    /// # Errors
    /// [`Damage::Foreign`] with the value that differs.
    fn check_certificate(certificate: &Self::Certificate) -> Result<(), Damage>;

    /// Was the certificate made with this campaign's parameters? Its unit is not looked at.
    ///
    /// # Errors
    /// [`Damage::Misplaced`] with the parameter that differs.
    fn fits(&self, certificate: &Self::Certificate) -> Result<(), Damage>;

    /// Is this the campaign `found`, with more units? Then a process that works alone writes this specification in its place, and
    /// all certificates of `found` are certificates of this campaign.
    fn extends(&self, _found: &Self) -> bool {
        false
    }

    /// Words after the advice to begin a campaign again whose specification is lost: what else to do if it was extended. None where no campaign is.
    const IF_EXTENDED: &'static str = "";

    /// Have both certificates the same result? Times and devices may differ.
    fn agree(one: &Self::Certificate, other: &Self::Certificate) -> bool;

    /// The campaign in words, for an error about another one.
    fn describe(&self) -> String;

    /// The campaign of certificates without a specification, in words, as far as they tell it.
    fn describe_certificates(certificates: &[Self::Certificate]) -> String;
}
